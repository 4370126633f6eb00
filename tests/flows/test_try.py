import time
def test_it(house):
    for i in range(2):
        t=time.time(); told=house.release(); print(told, time.time()-t)
    t=time.time(); print(house.approve("amara"), time.time()-t)
    t=time.time(); print(house.approve("jonas"), time.time()-t)
    print(house.shelf, house.events())
    print((house.target/house.id/"datapackage.json").read_text())
